// Package imagestore is the vocabulary of a store of images. The containerd package,
// which lists, pulls, packs and prunes images, and the app, ui and cli packages, which
// show this to people, share it. It owns the types and the names of images; references
// as users write them come in, full names go out.
package imagestore
