// Package house measures how much a reader of the code must take in at a time: the
// methods of each type, those of embedded types included, and how many packages of the
// module each package imports. It gets the root of the module and returns what
// go/types knows of it. It owns no limits: imports_test.go does.
package house
