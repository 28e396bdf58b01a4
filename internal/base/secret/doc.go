// Package secret finds secrets in what is shown, recorded and sent to programs,
// and masks them.
//
// It owns the one rule for it. A text that is a secret is masked, however short it
// is. A secret inside a longer text is masked from MinEmbedded bytes on: shorter
// ones would be found in every second word. Secrets, texts and JSON documents come
// in; texts and documents without them go out. What is a secret is decided by others.
package secret
