//! How clients find the interface: Link headers, head links, RSD, address shapes.
