// Program sdk is a provider made with terraform-plugin-sdk/v2, as most providers are: its type
// system is the legacy one. Its things are kept in the memory of terraform alone.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"
)

func main() {
	plugin.Serve(&plugin.ServeOpts{ProviderFunc: func() *schema.Provider {
		return &schema.Provider{ResourcesMap: map[string]*schema.Resource{"sdk_thing": thing()}}
	}})
}

func text(s *schema.Schema) *schema.Schema { s.Type = schema.TypeString; return s }

// thing is a resource with what the resources of such providers have.
func thing() *schema.Resource {
	return &schema.Resource{
		CreateContext: create,
		ReadContext:   func(context.Context, *schema.ResourceData, any) diag.Diagnostics { return nil },
		UpdateContext: update,
		DeleteContext: func(context.Context, *schema.ResourceData, any) diag.Diagnostics { return nil },
		CustomizeDiff: customize,
		Schema: map[string]*schema.Schema{
			"name":  text(&schema.Schema{Required: true, ForceNew: true}),
			"size":  {Type: schema.TypeInt, Optional: true},
			"ratio": {Type: schema.TypeFloat, Optional: true},
			"on":    {Type: schema.TypeBool, Optional: true, Default: true},
			"text": text(&schema.Schema{Optional: true, DiffSuppressFunc: func(_, old, now string, _ *schema.ResourceData) bool {
				return strings.EqualFold(old, now)
			}}),
			"lower":  text(&schema.Schema{Optional: true, StateFunc: func(v any) string { return strings.ToLower(v.(string)) }}),
			"region": text(&schema.Schema{Optional: true, Computed: true}),
			"secret": text(&schema.Schema{Optional: true, Sensitive: true}),
			"tags":   {Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"all":    {Type: schema.TypeMap, Computed: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"zones":  {Type: schema.TypeSet, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"order":  {Type: schema.TypeList, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"rule": {Type: schema.TypeSet, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"port":  {Type: schema.TypeInt, Required: true},
				"proto": text(&schema.Schema{Optional: true, Default: "tcp"}),
				"id":    text(&schema.Schema{Computed: true}),
			}}},
			"disk": {Type: schema.TypeList, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"gb":     {Type: schema.TypeInt, Optional: true},
				"kind":   text(&schema.Schema{Optional: true, Computed: true}),
				"device": text(&schema.Schema{Computed: true}),
			}}},
			"placement": {Type: schema.TypeList, Optional: true, MaxItems: 1, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"rack": text(&schema.Schema{Optional: true, ForceNew: true}),
				"note": text(&schema.Schema{Optional: true}),
			}}},
			"version": {Type: schema.TypeInt, Computed: true},
			"parts":   {Type: schema.TypeList, Computed: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"stamp":   text(&schema.Schema{Computed: true}),
		},
	}
}

// customize plans what follows from others, as tags_all of aws, or becomes known in the apply.
func customize(_ context.Context, d *schema.ResourceDiff, _ any) error {
	all := map[string]any{"by": "sdk"}
	for k, v := range d.Get("tags").(map[string]any) {
		all[k] = v
	}
	if err := d.SetNew("all", all); err != nil {
		return err
	}
	if d.Id() != "" && d.HasChange("size") {
		if err := d.SetNewComputed("version"); err != nil {
			return err
		}
	}
	if d.HasChange("zones") && d.Get("zones").(*schema.Set).Len() == 3 && d.Id() != "" {
		return d.ForceNew("zones")
	}
	return nil
}

func create(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	d.SetId("id-" + d.Get("name").(string))
	_ = d.Set("stamp", "made")
	if _, ok := d.GetOk("region"); !ok {
		_ = d.Set("region", "north")
	}
	return update(ctx, d, meta)
}

func update(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
	_ = d.Set("version", d.Get("size").(int)+1)
	parts := []any{}
	for _, one := range d.Get("order").([]any) {
		parts = append(parts, fmt.Sprint("part of ", one))
	}
	_ = d.Set("parts", parts)
	var disks []any
	for i, one := range d.Get("disk").([]any) {
		disk, _ := one.(map[string]any)
		if disk == nil {
			disk = map[string]any{}
		}
		if disk["kind"] == nil || disk["kind"] == "" {
			disk["kind"] = "ssd"
		}
		disk["device"] = fmt.Sprint("sd", i)
		disks = append(disks, disk)
	}
	_ = d.Set("disk", disks)
	var rules []any
	for _, one := range d.Get("rule").(*schema.Set).List() {
		rule := one.(map[string]any)
		rule["id"] = fmt.Sprint("rule-", rule["port"])
		rules = append(rules, rule)
	}
	_ = d.Set("rule", rules)
	return nil
}
