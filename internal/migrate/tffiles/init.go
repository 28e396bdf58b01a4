package tffiles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// LockFile is the name of the file with the versions of providers.
const LockFile = ".terraform.lock.hcl"

// Locked returns the versions of providers in a lock file, by address.
func Locked(body *hclsyntax.Body) map[string]string {
	locked := map[string]string{}
	for _, b := range body.Blocks {
		if b.Type == "provider" && len(b.Labels) == 1 && b.Body.Attributes["version"] != nil {
			if v, diags := b.Body.Attributes["version"].Expr.Value(nil); !diags.HasErrors() && v.Type().FriendlyName() == "string" {
				locked[b.Labels[0]] = v.AsString()
			}
		}
	}
	return locked
}

// Workspace returns the workspace that is selected in the directory of a root module.
func Workspace(root string) string {
	if name, err := os.ReadFile(filepath.Join(root, ".terraform/environment")); err == nil {
		return strings.TrimSpace(string(name))
	}
	return "default"
}

// Installed returns the directory of a module that `terraform init` has fetched for the root module, called by name
// from the module in the directory by.
func Installed(root, by, name string) (dir string, ok bool) {
	text, err := os.ReadFile(filepath.Join(root, ".terraform/modules/modules.json"))
	if err != nil {
		return "", false
	}
	var list struct{ Modules []struct{ Key, Dir string } }
	if err := json.Unmarshal(text, &list); err != nil {
		return "", false
	}
	own := ""
	for _, m := range list.Modules {
		if filepath.Join(root, m.Dir) == by && m.Key != "" {
			own = m.Key + "."
		}
	}
	for _, m := range list.Modules {
		if m.Key == own+name {
			return filepath.Join(root, m.Dir), true
		}
	}
	return "", false
}
