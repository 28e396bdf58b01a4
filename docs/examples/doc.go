// Package examples has the files of the examples that `deployster new` writes. The name of
// an example comes in; its files go out.
package examples
