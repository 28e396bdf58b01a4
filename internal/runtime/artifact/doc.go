// Package artifact is the vocabulary of artifacts: versions of files that are fetched
// from elsewhere, and published there. It owns the values that both protocols of artifact
// images share, the recipe by which files are found again, and two interfaces: Client
// runs images, Store keeps files. Questions with a source and params as JSON come in;
// versions, and directories that are held, go out. How to talk to an image, and how files
// are on a disk, is up to the implementations.
package artifact
