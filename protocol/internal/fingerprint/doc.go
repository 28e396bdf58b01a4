// Package fingerprint tells whether the secrets of a config have changed, which the state must not
// hold: it keeps a salted fingerprint of each in the state. A config and a state come in; fingerprints
// and the JSON pointers of changed secrets go out.
package fingerprint
