// Package secret finds secrets in texts and documents that are shown, recorded and sent
// to programs, and masks them.
//
// It owns the one rule for it. A text that equals a secret is masked, however short it is. A
// secret inside a longer text is masked if it has at least MinEmbedded bytes: shorter ones
// would be found in every second word. Secrets, texts and JSON documents come in; texts and
// documents without them go out. Other packages decide what is a secret.
package secret
