module local

go 1.26.8

require github.com/terraform-providers/terraform-provider-local v1.4.0

replace github.com/terraform-providers/terraform-provider-local => github.com/hashicorp/terraform-provider-local v1.4.0
