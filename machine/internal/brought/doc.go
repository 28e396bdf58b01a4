// Package brought finds out which directories, files and services a package of dpkg brings. The name of a package
// comes in; what it provides, in the words of the protocol, comes out.
package brought
