// Package artifacts decides which version of each artifact a plan uses. It takes declared
// artifacts, the lock file's and the state's versions, and a client of artifact images. It
// returns pins, and what expressions see of them. It owns the choice of a version and the
// messages about it. It fetches only what is requested.
package artifacts
