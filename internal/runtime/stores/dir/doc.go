// Package dir keeps the objects of a shared state in a directory, which may be on
// NFS.
//
// It owns how an object becomes a file: complete, on the disk, and only if no file
// exists. A path comes in, and a sharedlog.Store goes out. It relies neither on the
// times of files nor on file locks.
package dir
