// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
// swift-format-ignore-file

// The synchronous class of the blog post that MyAsyncOperation.swift names, whose author's text it
// is. Where the post has "...", there is now a call of `work`, `moreWork` or `finalWork`.

import Operations

class MySyncOperation: Operation {

    var work: @Sendable () -> Void = {}
    var moreWork: @Sendable () -> Void = {}
    var finalWork: @Sendable () -> Void = {}

    override func main() {
        self.work()
    
        guard !self.isCancelled else { return }
    
        self.moreWork()
    
        guard !self.isCancelled else { return }
    
        self.finalWork()
    }

}
