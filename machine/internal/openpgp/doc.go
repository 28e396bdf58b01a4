// Package openpgp reads public keys: whether a text or data is one, and when it ends. The text of
// keys comes in; times go out. It checks no signatures.
package openpgp
