// Package remotes checks what a plan uses of other states: that no version is older than one that was used before, that a plan is
// applied with the values that it was made from, and whether these are still published when it was applied. What a plan or a
// manifest has pinned comes in; what stands against it, or what has changed since, goes out.
package remotes
