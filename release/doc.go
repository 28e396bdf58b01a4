// Command release builds what is published of a version: archives, packages, the image for
// CIs, the list of what is linked in, checksums and their signature. A version and the
// checkout come in; files in a directory go out, the same bytes for the same commit and the
// same packages of Debian. It is a module of its own, so that deployster itself has none of
// its libraries.
package main
