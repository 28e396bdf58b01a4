//go:build tools

// Package versitygw names the S3 server of the tests, so that its module is pinned.
package versitygw

import _ "github.com/versity/versitygw/cmd/versitygw"
