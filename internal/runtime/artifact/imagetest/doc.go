// Package imagetest tests whether an artifact image keeps its protocol: it makes all calls
// that deployster ever makes, also those that are rare. An image and a source come in; a
// report goes out, of the same form as for a resource type.
package imagetest
