package tfrefs

import (
	"net/url"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// RemoteKind is the data source that reads the outputs of another state.
const RemoteKind = "terraform_remote_state"

// IsRemote reports whether a key is that of a data source of RemoteKind.
func IsRemote(k Key) bool { return k.Data && k.Kind == RemoteKind }

// RemoteURL returns where another project has its state once it is migrated; "" = that does not follow from the backend.
func RemoteURL(attrs hclsyntax.Attributes) string {
	if attrs["backend"] == nil || attrs["config"] == nil || attrs["workspace"] != nil {
		return ""
	}
	pairs, _ := hcl.ExprMap(attrs["config"].Expr) // anything else has no parts
	part := map[string]string{}
	for _, p := range pairs {
		part[hcl.ExprAsKeyword(p.Key)] = Quoted(p.Value.(hclsyntax.Expression))
	}
	switch backend := Quoted(attrs["backend"].Expr); {
	case backend == "local" && part["path"] != "":
		return path.Join(path.Dir(part["path"]), "deployster.state.json")
	case backend == "s3" && part["bucket"] != "" && part["key"] != "" && part["region"] != "":
		return "s3://" + part["bucket"] + "/" + strings.TrimSuffix(part["key"], ".tfstate") + "?region=" + url.QueryEscape(part["region"])
	}
	return ""
}
