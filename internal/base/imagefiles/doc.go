// Package imagefiles owns which files an image is made of: directories and files of this
// machine, its programs with the libraries that they need, and what shell scripts need.
// Paths come in; a tar goes out that depends on nothing but their names, their contents
// and their permissions.
package imagefiles
