// Package s3 keeps the objects of a shared state in a bucket of S3, or of another
// service with the same protocol and conditional writes.
//
// Only this package uses the library for S3. Options come in, and a sharedlog.Store goes out.
package s3
