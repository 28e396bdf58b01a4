// Command terraform-provider-test is a Terraform provider that tests of the bridge pack into
// an image.
package main

import (
	"os"

	"deployster/bridge/internal/testprovider"
)

func main() { os.Exit(testprovider.Run()) }
