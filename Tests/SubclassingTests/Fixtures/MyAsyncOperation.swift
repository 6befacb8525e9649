// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
// swift-format-ignore-file

// This class is the asynchronous example of a blog post about subclassing NSOperation:
// NSProgrammer, 2 July 2021 (nsprogrammer.github.io/jekyll/update/2021/07/02/nsoperation.html). The
// author of the post wrote it. The tests use it as a reader of the post may have copied it, to show
// that such a class works without changes. It differs from the post in the following:
//
// - `state` is a variable and has initial values, and `init` is an `override` that calls `super`,
//   because the class does not compile otherwise;
// - where the post has "...", there is now a global queue and a call of `work` or `moreWork`.

import Foundation
import Operations

class MyAsyncOperation: Operation {

    struct State {
        var isCancelled: Bool
        var isExecuting: Bool
        var isFinished: Bool
    }
    
    private var state = State(isCancelled: false, isExecuting: false, isFinished: false)
    private let lock = NSRecursiveLock()
    private let queue: DispatchQueue

    var work: @Sendable () -> Void = {}
    var moreWork: @Sendable () -> Void = {}
    
    override init() {
        queue = DispatchQueue.global()
        super.init()
    }

    // MARK: State Accessors

    public override var isFinished: Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        
        return self.state.isFinished
    }
    
    public override var isExecuting: Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        
        return self.state.isExecuting
    }
    
    public override var isCancelled: Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        
        return self.state.isCancelled
    }

    public override var isAsynchronous: Bool {
        return true
    }

    // MARK: Method Overrides

    public override func start() {
        self.lock.lock()
        defer { self.lock.unlock() }
        
        guard !self.state.isCancelled else {
            self.finish()
            return
        }
        
        self.willChangeValue(forKey: "isExecuting")
        self.state.isExecuting = true
        self.didChangeValue(forKey: "isExecuting")
        
        self.queue.async {
            self.run()
        }
    }
    
    public override func cancel() {
        self.lock.lock()
        defer { self.lock.unlock() }
        
        if !self.state.isCancelled {
            self.willChangeValue(forKey: "isCancelled")
            self.state.isCancelled = true
            self.didChangeValue(forKey: "isCancelled")
            self.finish()
        }
    }

    // MARK: Private Methods

    private func run() { 
        guard !self.isCancelled else {
            return
        }

        self.work()
        
        guard !self.isCancelled else {
            return
        }
        
        self.moreWork()
        
        guard !self.isCancelled else {
            return
        }
        
        self.lock.lock()
        defer { self.lock.unlock() }
        self.finish()
    }

    /* this func must be called from a safely synchronized critical section */
    private func finish() {
        let shouldFinish = !self.state.isFinished
        let shouldStopExecuting = self.state.isExecuting
        
        if shouldFinish {
            self.willChangeValue(forKey: "isFinished")
        }
        if shouldStopExecuting {
            self.willChangeValue(forKey: "isExecuting")
        }
        
        self.state.isFinished = true
        self.state.isExecuting = false
        
        if shouldStopExecuting {
            self.didChangeValue(forKey: "isExecuting")
        }
        if shouldFinish {
            self.didChangeValue(forKey: "isFinished")
        }
    }

}
