// Package signature signs bytes with ed25519 keys, and reports whose signature one is. It
// owns the form of a signature. Keys come in as `openssl genpkey -algorithm ed25519` and
// `ssh-keygen -t ed25519` write them; signatures and names of keys go out.
package signature
