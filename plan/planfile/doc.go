// Package planfile owns the bytes of a plan file: it writes a plan.Plan with the
// manifests that it was made from, reads it back, and refuses a file that is not
// to the byte what was written, or is inconsistent. It takes a plan and, to sign it,
// a key, and writes bytes; it reads bytes, and returns the same plan and who signed
// it. It also computes the digest of what a plan does. It decides nothing.
package planfile
