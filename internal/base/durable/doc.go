// Package durable writes files so that a crash or a power cut never loses bytes that were
// reported as written. Paths and bytes come in; out go files that are replaced as a
// whole, an append-only Log whose fsyncs are shared, and a Lock that ends with its
// process. It owns how a byte gets to the disk, and knows nothing of its meaning.
package durable
