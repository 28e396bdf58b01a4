// Package durable writes files so that a crash or a power cut never loses what
// was said to be written. Paths and bytes come in; out go files that were replaced
// as a whole, an append-only Log whose fsyncs are shared, and a Lock that dies with
// its process. It owns how a byte gets to the disk, and knows nothing of what it
// means.
package durable
