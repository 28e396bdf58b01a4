// Package imagefiles collects the files of an image: directories and files of this
// machine, its programs with the libraries that they need, and what shell scripts need.
// Paths come in; a tar goes out that depends only on the names, contents and permissions
// of the files.
package imagefiles
