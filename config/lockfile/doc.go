// Package lockfile owns the lock file: which content the names of images, the versions of artifacts
// and the sources of modules stand for. Bytes come in, and pins; a Lock, or bytes, go out.
package lockfile
