// Package artifact is the vocabulary of artifacts: versions of files that come from
// elsewhere, and go there. It owns the values that both protocols of artifact images
// mean, the recipe by which files are found again, and the two interfaces behind which
// images are asked (Client) and files are kept (Store). Questions with a source and
// params as JSON go in; versions, and directories that are held, come out. How an image
// is spoken to, and how a disk is kept, others know.
package artifact
