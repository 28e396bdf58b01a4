package config

import (
	"strings"
	"testing"
)

// A message that is null is not called a sensitive one.
func TestValidation_MessageIsNull(t *testing.T) {
	t.Parallel()
	_, diags := Load(inMemory(t, map[string]string{"main.hcl": `
variable "d" {
  default = "x"
  validation {
    condition     = var.d == "y"
    error_message = null
  }
}
`}), nil, Builtins{})
	if len(diags) != 1 || strings.Contains(diags[0].Detail, "sensitive") || !strings.Contains(diags[0].Detail, "error_message is null") {
		t.Errorf("%v", diags)
	}
}
