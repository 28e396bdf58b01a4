// Package settings has the kinds of what each machine has exactly once: hostname, timezone and
// locale. A resource of them sets it, and its removal leaves the machine as it is.
package settings
