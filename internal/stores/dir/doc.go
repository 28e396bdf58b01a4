// Package dir keeps the objects of a shared state in a directory, which may be on
// NFS.
//
// It owns how an object becomes a file: whole, on the disk, and only where none is. A
// path comes in, and a sharedlog.Store goes out. It trusts neither times of files nor
// locks.
package dir
