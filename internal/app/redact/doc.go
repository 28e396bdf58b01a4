// Package redact keeps secrets out of what is shown, recorded and sent to programs.
//
// It owns the secrets that a command has learned. Secrets come in as they become
// known; texts, plans, checks and diagnostics come in with them and go out without.
// What is sensitive is decided by config, plan and state.
package redact
