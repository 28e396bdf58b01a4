// Package pins owns what init and the commands about versions of artifacts do with the lock file:
// which digests and versions it pins. An engine comes in, and manifests; the changes of the lock
// file go out.
package pins
