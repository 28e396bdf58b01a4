// Package redact takes secrets out of what a command shows and records.
//
// It owns what of a plan, a check or a diagnostic may hold a secret. They come in
// and go out without. What is sensitive is decided by config, plan and state; how a
// secret is found and masked, by secret.
package redact
