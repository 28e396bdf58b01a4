// Package imagetest tests whether an image of artifacts keeps its protocol: it asks it all
// that deployster ever asks, and what happens on bad days only. In goes an image with a
// source; out comes the report that a test of a resource type gives too.
package imagetest
