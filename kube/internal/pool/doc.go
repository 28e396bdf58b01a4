// Package pool decides in which Pod an invocation runs, and when another Pod may be made: invocations with the same
// image, plugs and settings share Pods where they may, and a command has a limit of Pods at a time. It knows
// nothing of the cluster: who makes and removes Pods notifies it.
package pool
