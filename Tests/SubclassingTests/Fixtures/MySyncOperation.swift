// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
// swift-format-ignore-file

// This class is the synchronous example of the blog post that MyAsyncOperation.swift names. The
// author of the post wrote it. Where the post has "...", there is now a call of `work`, `moreWork`
// or `finalWork`.

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
