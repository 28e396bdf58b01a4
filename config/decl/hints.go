package decl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/internal/base/words"
)

// Hints for users who know Terraform: what to write instead of a name from Terraform,
// by the block that has it.
var (
	rootHints = map[string]string{
		"data": "There are no data sources: resource.NAME.state is what a resource reported. To read an object and never change it, " +
			"declare it as a resource with read_only = true. The outputs of another project are read with a remote_state block.",
		"provider": "There are no providers: the type of a resource is a container image, which brings its own tools. What it must know " +
			"goes into config, files and credentials into a plug block, environment variables into the env of a type block.",
		"terraform": "The settings of this tool stand in a deployster block: required_version, and state for the state file. There are " +
			"neither backends nor required_providers.",
		"import": "What exists already needs no import: its type finds it, and the plan adopts it.",
		"hosts":  "Each host has a block of its own: host \"NAME\" { address = ... }.",
		"local":  "Local values stand in a block `locals { NAME = VALUE }`.",
		"ephemeral": "A value that must not be shown is a variable with sensitive = true, or one that its image's schema marks " +
			"writeOnly. " +
			"One that must be recorded nowhere comes from a secret block.",
		"variables": "Each variable has a block of its own: variable \"NAME\" { }. Values for them go into vars.auto.hcl.",
		"outputs":   "Each output has a block of its own: output \"NAME\" { value = ... }.",
		"resources": "Each resource has a block of its own: resource \"NAME\" { type = ... }.",
	}
	resourceHints = map[string]string{
		"provisioner": "The image of a resource decides what must be done, as actions. Commands of one's own are a type of " +
			"one's own: see docs/writing-a-type.md.",
		"connection": "An image has its own way to reach what it manages: what it needs for that goes into config. To run the image " +
			"itself on another machine, declare that with a host block and write host = host.NAME.",
		"provider": "There are no providers: the type of a resource is a container image, type = \"acme/disk:1\" or type = type.NAME.",
		"dynamic": "config is one value, so that no blocks need to be made: write a list, for example disks = [for d in var.disks : { " +
			"size = d }].",
		"image": "The image of a resource is its type: type = \"acme/disk:1\".",
	}
	moduleHints = map[string]string{
		"version": "Modules are directories of this machine, which have no versions: fetch the version that you want with the tool for " +
			"that.",
		"providers": "There are no providers to hand on: a module gets variables, and the plugs of the manifest.",
	}
	remoteHints = map[string]string{"backend": "The url names the other state: url = \"s3://BUCKET/PATH\", or the path of its file."}
	hostHints   = map[string]string{
		"host":         "Where it is reached is its address: a name, an address, or an alias of ssh's config.",
		"hostname":     "Where it is reached is its address: a name, an address, or an alias of ssh's config.",
		"password":     "There are no passwords: ssh must log in with a key or an agent, without a prompt. For sudo it is the same.",
		"private_key":  "A key is a file that ssh reads: identity_file = \"~/.ssh/deploy\".",
		"key":          "A key is a file that ssh reads: identity_file = \"~/.ssh/deploy\".",
		"bastion_host": "The machine on the way is jump = \"USER@NAME:PORT\", as for ssh -J.",
		"become":       "To become root there: sudo = true.",
	}
	kubernetesHints = map[string]string{
		"address": "A cluster is reached as kubeconfig declares: context names the context, and kubeconfig the file.",
		"image":   "The image of deployster-pod is the agent: agent = \"REPOSITORY@sha256:...\".",
		"pod":     "A Pod has no template here: each setting of it has an attribute of its own.",
	}
	policyHints = map[string]string{
		"enforcement_level": "How strict a policy is, is its level: level = \"advisory\", \"overridable\" or \"mandatory\".",
		"image":             "The image of a policy is its type: type = \"acme/policy:1\".",
		"deny":              "What is denied stands in a rule block: rule { deny = [...], message = \"...\" }.",
	}
	ruleHints = map[string]string{
		"condition":     "A rule lists what it denies: deny = [for a, r in plan.resources : a if ...], or deny = true for all.",
		"error_message": "The text of a rule is its message.",
		"level":         "The level is that of the policy: write it next to the rule.",
	}
	valueHints = map[string]string{
		"ephemeral": "A value that must not be shown has sensitive = true.",
	}
)

var quotedName = regexp.MustCompile(`"([^"]*)"`)

// addHint adds to an error about an unknown block or attribute what to write instead.
func addHint(d *hcl.Diagnostic, s schema) {
	if strings.HasPrefix(d.Summary, "Extraneous label for ") {
		d.Summary, d.Detail = "Too many labels", fmt.Sprintf("%s A block has one label at the most, its name.", d.Detail)
		if strings.Contains(d.Detail, "resource") {
			d.Detail = "A resource has one label, its name. Its type is an attribute, and is a container image: " +
				`resource "web" { type = "acme/vm:1" }.`
		}
		return
	}
	name := quotedName.FindStringSubmatch(d.Detail)
	if name == nil || !strings.HasPrefix(d.Summary, "Unsupported ") && d.Summary != "Extraneous JSON object property" {
		return
	}
	text := s.hints[name[1]]
	if text == "" && s.otherwise != nil {
		text = s.otherwise(s, name[1], d.Summary == "Unsupported argument")
	}
	if text != "" {
		d.Detail, _, _ = strings.Cut(d.Detail, " Did you mean ")
	} else {
		d.Detail, _, _ = strings.Cut(d.Detail, " Did you mean ") // HCL's suggestion only compares letters
		if text = words.DidYouMean(name[1], s.names()); text == "" {
			text = s.whatCanStand()
		}
	}
	if text != "" {
		d.Detail += " " + strings.TrimPrefix(text, " ")
	}
}

// TerraformHint returns what to write instead of a reference that begins with a name
// from Terraform, "" if it does not.
func (b *Module) TerraformHint(t hcl.Traversal) string {
	root, name := t.RootName(), refs.StepName(t, 1)
	switch {
	case root == "data":
		return "There are no data sources: resource.NAME.state is what a resource reported."
	case root == "terraform" && name == "workspace":
		return "There are no workspaces: give each its directory or its state file, and write a variable for its name. " +
			"deployster.workspace is the working directory."
	case root == "terraform":
		return "The tool's own values are deployster.version, deployster.verbose and deployster.workspace."
	case root == "self":
		return "A resource cannot refer to itself by self: write resource.NAME.state, in an output for example."
	case name != "" && b.Resources[name] != nil && !slices.Contains([]string{"var", "local"}, root):
		return fmt.Sprintf("A reference to a resource does not begin with its type. Did you mean resource.%s.state%s?", name,
			refs.TraversalString(t[2:]))
	}
	return ""
}
