// Package store keeps the files of artifacts in a directory: it is the artifact.Store. An
// order comes in; a directory that is held goes out, with files that a Client has fetched
// once. It owns the content of the store: an entry is complete or does not exist, also
// after a power cut; it is never changed, and is removed only when nothing holds it.
package store
