// Package redact takes secrets out of what a command shows and records.
//
// It owns which parts of a plan, a check or a diagnostic may hold a secret. They come in,
// and go out without secrets. Config, plan and state decide what is sensitive; package
// secret finds and masks it.
package redact
