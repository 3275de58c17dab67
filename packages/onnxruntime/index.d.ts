export { env, InferenceSession, Tensor } from 'onnxruntime-common';
