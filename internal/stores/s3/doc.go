// Package s3 keeps the objects of a shared state in a bucket of S3, or of what speaks
// its protocol and has conditional writes.
//
// It alone knows the library for S3. Options come in, and a sharedlog.Store goes out.
package s3
