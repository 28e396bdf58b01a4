// Package planfile owns the bytes of a plan file: it writes a plan.Plan with the
// manifests that it was made from, reads it back, and refuses a file that is not
// to the byte what was written, or does not hang together. A plan comes in, with
// a key to sign it if there is one; bytes go out, and back the same plan, who
// signed it, and the digest of what it means. It decides nothing.
package planfile
