// Package fingerprint reports whether the secrets of a config have changed. The state must not hold
// secrets: it holds a salted fingerprint of each. A config and a state come in; fingerprints and the
// JSON pointers of changed secrets go out.
package fingerprint
