module acceptance

go 1.26.8

require github.com/hashicorp/terraform-provider-time v0.14.2
