// Package services starts servers for tests: PostgreSQL, S3, and a proxy before either
// that loses answers, delays them, or lets nothing through.
//
// It owns their processes and directories. A test, or a Host, comes in, and addresses go out; all
// ends with the test.
package services
