// Package store keeps the files of artifacts in a directory: it is the artifact.Store. An
// order comes in; a directory that is held goes out, whose files were brought in by a
// Client once. It owns what lies there: an entry is whole or not there, also after a power
// cut, is never changed, and is removed only when nobody holds it.
package store
