"""The only modules that know AWS: each fits one driver to a protocol of `singletable.transport`."""
