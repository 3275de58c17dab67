const SERVICE_NAME =
  /^COSIFT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_PORT = /^COSIFT_(\w+_)?PORT$/;

/** Whether Kubernetes sets this environment variable in every pod for a service called `cosift` or `cosift-…`. */
export function isKubernetesVariable(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (SERVICE_PORT.test(name) && /^(tcp|udp|sctp):\/\//.test(value));
}
