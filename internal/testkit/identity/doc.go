// Package identity has a world whose things have names of their own, and histories of
// manifests that declare them: renamed, reordered, exchanged, changed and removed, with
// targets and failures. A history comes in as a seed and is played with a Tool: the
// rules of plan/match with a small engine around them, or the whole engine. What must
// never be comes out: a declared thing destroyed, a thing left of which nothing was
// said, or made twice, a run that is complete while something declared is missing, a copy
// that changes its original, a run that waits for itself.
package identity
