// Package secretref owns what stands for the value of a secret block where that must not be: a text that
// names the secret, and a slow salted fingerprint. A plan, a state and a record have the text, and a value
// goes into a message only when that is sent. Texts and values come in; texts, names and fingerprints go out.
package secretref
