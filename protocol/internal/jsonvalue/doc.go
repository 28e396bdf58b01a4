// Package jsonvalue encodes and decodes the JSON values of the protocol, and writes the names of
// members in JSON pointers. Go values and JSON come in and go out.
package jsonvalue
