package decl

import (
	"fmt"
	"strings"

	"deployster/internal/base/words"

	"github.com/hashicorp/hcl/v2"
)

// The attributes and blocks that each block may have.
var (
	deploysterSchema = attributes("required_version", "state", "adopt", "auto_edges").with("encryption", encryptionSchema).
				with("exports", exportsSchema)
	exportsSchema     = attributes("recipients!")
	remoteStateSchema = attributes("url!").hinting(remoteHints, nil)
	encryptionSchema  = attributes("enabled", "passphrase_env", "passphrase_file", "old_passphrase_env", "old_passphrase_file",
		"recipients", "identity_files")
	typeSchema = attributes("image!", "pull", "network", "env", "memory", "cpu", "pids", "workers", "watchers", "disk",
		"mount_workspace", "host", "read_only_rootfs", "user", "userns", "answer_size", "log_size", "defaults", "whole_machine").
		with("verify", verifySchema).with("timeouts", typeTimesSchema).with("capabilities", capabilitySchema).with("watch", watchSchema)
	verifySchema     = attributes("key!", "repository")
	typeTimesSchema  = attributes("init", "state", "action")
	capabilitySchema = attributes("add", "drop")
	plugSchema       = attributes("path", "artifact", "content", "read_only", "resource_names", "resource_types")
	hostSchema       = attributes("address!", "user", "port", "identity_file", "jump", "host_key", "ssh_options", "sudo", "data_dir",
		"undo_unless_reached", "labels", "for_each", "count").with("kubernetes", kubernetesSchema).hinting(hostHints, nil)
	kubernetesSchema = attributes("namespace!", "agent!", "context", "kubeconfig", "service_account", "image_pull_secrets", "registries",
		"node_selector", "tolerations", "labels", "annotations", "priority_class", "runtime_class", "cpu", "memory", "max_pods",
		"start_timeout", "stop_timeout", "network_policy").hinting(kubernetesHints, nil)
	outputSchema = attributes("value!", "type", "description", "sensitive", "deprecated", "depends_on", "export").
			with("precondition", conditionSchema).hinting(valueHints, nil)
	variableSchema = attributes("type", "default", "description", "sensitive", "nullable", "deprecated", "const").
			with("validation", conditionSchema).hinting(valueHints, nil)
	resourceSchema = attributes("type!", "for_each", "count", "enabled", "config", "dependencies", "depends_on", "subscribe", "semaphores",
		"host", "read_only").with("lifecycle", lifecycleSchema).with("timeouts", timeoutsSchema).with("retry", retrySchema).
		with("watch", watchSchema).hinting(resourceHints, resourceHint)
	lifecycleSchema = attributes("prevent_destroy", "on_remove", "ignore_changes", "adopt", "create_before_destroy",
		"replace_triggered_by").
		with("precondition", conditionSchema).with("postcondition", conditionSchema)
	timeoutsSchema         = attributes("state", "action")
	retrySchema            = attributes("attempts", "delay")
	watchSchema            = attributes("poll", "repair", "actions")
	semaphoreSchema        = attributes("slots")
	exclusiveSchema        = attributes("type!", "host", "keep", "config")
	policySchema           = attributes("level!", "type", "config").with("rule", ruleSchema).hinting(policyHints, nil)
	ruleSchema             = attributes("deny!", "message!").hinting(ruleHints, nil)
	conditionSchema        = attributes("condition!", "error_message!")
	checkSchema            = attributes("gate").with("assert", conditionSchema)
	movedSchema            = attributes("from!", "to!")
	removedSchema          = attributes("from!", "to").with("lifecycle", removedLifecycleSchema)
	removedLifecycleSchema = attributes("destroy")
	artifactSchema         = attributes("type!", "source", "params", "space", "version").with("timeouts", attributes("check", "get"))
	publishSchema          = attributes("artifact!", "params", "inputs", "triggers", "depends_on", "idempotent").
				with("timeouts", attributes("put"))
)

// schema is what a block may have, and the hints for what it may not have.
type schema struct {
	*hcl.BodySchema
	inner []schema          // the schemas of its blocks
	hints map[string]string // hints for names that users know from Terraform, by name
	// otherwise returns the hint for any other name, "" for none; nil = no hints.
	otherwise func(s schema, name string, argument bool) string
}

// attributes returns a schema with these attributes; a name that ends in ! is required.
func attributes(names ...string) schema {
	s := schema{BodySchema: &hcl.BodySchema{}}
	for _, n := range names {
		name, required := strings.CutSuffix(n, "!")
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: required})
	}
	return s
}

// with adds a nested block.
func (s schema) with(block string, inner schema) schema {
	s.Blocks, s.inner = append(s.Blocks, hcl.BlockHeaderSchema{Type: block}), append(s.inner, inner)
	return s
}

func (s schema) hinting(hints map[string]string, otherwise func(schema, string, bool) string) schema {
	s.hints, s.otherwise = hints, otherwise
	return s
}

// names returns the names of its attributes and blocks.
func (s schema) names() []string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, b.Type)
	}
	return names
}

// whatCanStand returns a sentence that lists its attributes and blocks.
func (s schema) whatCanStand() string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, "the block "+b.Type)
	}
	return "What can stand here: " + strings.Join(names, ", ") + "."
}

// rootHint returns the hint for an unknown name at the top of a manifest.
func rootHint(s schema, name string, argument bool) string {
	if !argument || words.DidYouMean(name, s.names()) != "" {
		return ""
	}
	return "At the top of a manifest stand blocks alone. Every file of the directory whose name ends in .hcl is a manifest: values for " +
		"variables stand in vars.auto.hcl or, as the config for a `type test`, in a file in another directory. " + s.whatCanStand()
}

// resourceHint returns the hint for an unknown name in a resource block.
func resourceHint(s schema, name string, _ bool) string {
	if words.DidYouMean(name, s.names()) != "" {
		return ""
	}
	return fmt.Sprintf("What the image is to get goes into config: config = { %s = ... }. Next to it are allowed: %s.", name,
		strings.Join(s.names(), ", "))
}
